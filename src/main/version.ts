/** As `package.json` has it; a test keeps them equal. */
export const VERSION = "0.1.0";
