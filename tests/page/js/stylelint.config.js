// What Prettier doesn't see in style sheets: mistakes, and what is said twice.
export default {
  reportNeedlessDisables: true,
  rules: {
    "block-no-empty": true,
    "color-no-invalid-hex": true,
    "custom-property-no-missing-var-function": true,
    "declaration-block-no-duplicate-custom-properties": true,
    "declaration-block-no-duplicate-properties": [
      true,
      { ignore: ["consecutive-duplicates-with-different-values"] }, // older browsers take the first
    ],
    "declaration-block-no-shorthand-property-overrides": true,
    // Colours have names, which are page.css's, so that each theme can have its own.
    "declaration-property-value-disallowed-list": { "/^(?!--)/": [/#[0-9a-f]{3,8}\b/i] },
    "function-calc-no-unspaced-operator": true,
    "function-no-unknown": true,
    "keyframe-block-no-duplicate-selectors": true,
    "media-feature-name-no-unknown": true,
    "named-grid-areas-no-invalid": true,
    "no-duplicate-selectors": true,
    "property-no-unknown": true,
    "selector-pseudo-class-no-unknown": true,
    "selector-pseudo-element-no-unknown": true,
    "selector-type-no-unknown": true,
    "unit-no-unknown": true,
  },
};
