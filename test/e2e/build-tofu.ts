/** `npm run build-tofu`: OpenTofu and the azurerm provider for `terraform.e2e.ts`, into the cache; prints their folder. */
import { buildTofu } from "../support/tofu.ts";

process.stdout.write(`${await buildTofu((line) => void process.stderr.write(`tofu: ${line}\n`))}\n`);
