import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parseAllDocuments } from "yaml";

import { RIGHTS } from "./doctor-kubernetes.ts";

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

test("the rights that the doctor asks for are those of deploy/rbac.yaml, the Secret aside", () => {
  const file = readFileSync(join(import.meta.dirname, "../../deploy/rbac.yaml"), "utf8");
  const roles = parseAllDocuments(file).map((document) => document.toJS() as Role);
  const granted = roles
    .filter(({ metadata }) => metadata.name === "azlb-controller")
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ resources, verbs, resourceNames = [""] }) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${resource} ${name}`)),
      ),
    )
    .filter((right) => !right.includes("secrets"));
  const asked = RIGHTS.flatMap(([verbs, resource, more = {}]) => {
    const whole = more["subresource"] === undefined ? resource : `${resource}/${more["subresource"]}`;
    return verbs.map((verb) => `${verb} ${whole} ${more["name"] ?? ""}`);
  });
  assert.deepEqual(asked.toSorted(), granted.toSorted());
});
