import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { codeOf, NSG, PUBLIC_IP, pipId } from "./test-fixtures.ts";
import { azureWithGroup, GROUP } from "./test-azure.ts";

const count = (tags: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: tags }, (_, index) => [`tag-${index}`, "x"]));

const REFUSED: readonly (readonly [string, Record<string, string>, string])[] = [
  ["51 tags", count(51), "TooManyTags"],
  ...["<", ">", "%", "&", "\\", "?", "/", "\u0001"].map(
    (letter) =>
      [`a name with ${JSON.stringify(letter)}`, { [`a${letter}b`]: "x" }, "InvalidTagNameCharacters"] as const,
  ),
  ["a name of 513 characters", { ["n".repeat(513)]: "x" }, "InvalidTagName"],
  ["a value of 257 characters", { a: "v".repeat(257) }, "InvalidTagValueLength"],
];

const ACCEPTED: readonly (readonly [string, Record<string, string>])[] = [
  ["50 tags", count(50)],
  ["any characters in a value", { a: "<>%&\\?/" }],
  ["other characters in a name", { "k8s.azure:service_name-+*": "x" }],
  ["reserved characters in a hidden tag", { "hidden-link:/subscriptions/1": "Resource" }],
  ["the longest name and value", { ["n".repeat(512)]: "v".repeat(256) }],
];

describe("tags", () => {
  for (const [what, tags, code] of REFUSED) {
    test(`${what} are refused on every way`, () => {
      const azure = azureWithGroup();
      assert.equal(codeOf(azure.put(pipId("new"), { ...PUBLIC_IP, tags })), code);
      assert.equal(azure.get(pipId("new")).status, 404);
      azure.put(NSG, { location: "eastus" });
      assert.equal(codeOf(azure.send("PATCH", NSG, { tags })), code);
      assert.equal(codeOf(azure.put(GROUP, { location: "eastus", tags })), code);
      assert.equal(codeOf(azure.send("PATCH", GROUP, { tags })), code);
    });
  }
  for (const [what, tags] of ACCEPTED) {
    test(`${what} are accepted`, () => {
      const azure = azureWithGroup();
      assert.equal(azure.put(pipId("new"), { ...PUBLIC_IP, tags }).status, 201);
      assert.deepEqual(azure.get(pipId("new")).body.tags, tags);
      assert.equal(azure.send("PATCH", GROUP, { tags }).status, 200);
    });
  }
});
