// Few rules: what tsc doesn't see.
import globals from "globals";

export default [
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["skyenv/page/static/**/*.js", "tests/page/js/*.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.nodeBuiltin } },
    rules: {
      complexity: ["error", 12],
      eqeqeq: "error",
      "max-len": ["error", 100], // Prettier leaves comments and strings alone
      "no-alert": "error", // the page has dialogs of its own
      "no-undef": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
