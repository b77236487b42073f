"""Pages of the documentation, and the programs in ``docs/build`` that make parts of them."""
