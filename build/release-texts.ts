/**
 * What a release says about itself: where it comes from (an in-toto statement with SLSA's predicate), the Dockerfile of the
 * image context, and the commands that sign. Pure: `release.ts` finds out what they are told.
 */

/** A file with its SHA-256. */
export interface Digested {
  readonly name: string;
  readonly sha256: string;
}

export interface Origin {
  readonly version: string;
  readonly commit: string;
  /** There were changes that no commit has. */
  readonly isDirty: boolean;
  readonly platform: string;
  /** Programs and files that the result depends on besides the commit. */
  readonly inputs: readonly Digested[];
  /** What made each part, by name: versions. */
  readonly tools: Readonly<Record<string, string>>;
}

/** Says nothing of when and where it ran: two runs of one commit give one statement. */
export function provenanceOf(subjects: readonly Digested[], origin: Origin): object {
  const { version, commit, isDirty, platform, inputs, tools } = origin;
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(asResource),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:azlb:npm-run-release:v1",
        externalParameters: { version, platform },
        internalParameters: { tools },
        resolvedDependencies: [
          {
            name: "source",
            digest: { gitCommit: commit },
            ...(isDirty ? { annotations: { uncommittedChanges: true } } : {}),
          },
          ...inputs.map(asResource),
        ],
      },
      // nothing vouches for this machine: the person who signs does
      runDetails: { builder: { id: "urn:azlb:builder:unattended-machine" } },
    },
  };
}

function asResource({ name, sha256 }: Digested): object {
  return { name, digest: { sha256 } };
}

/** The stages of the repository's Dockerfile that make images, with the trees of the context in place of a build. */
export function dockerfileOfContext(dockerfile: string): string {
  const stages = [...dockerfile.matchAll(/^FROM scratch AS \w+\n[^]*?(?=\n\nFROM|$(?![^]))/gm)].map(([stage]) => stage);
  if (stages.length === 0) throw new Error("the Dockerfile has no stage FROM scratch");
  const texts = stages.map((stage) => {
    const copied = stage.replace(/^COPY --from=build \/tree\/(\w+) \/$/m, "COPY base /\nCOPY $1 /");
    if (copied === stage) throw new Error(`this stage of the Dockerfile copies no tree:\n${stage}`);
    return copied.trimEnd();
  });
  return `${texts.join("\n\n")}\n`;
}

export function checksumsOf(files: readonly Digested[]): string {
  return files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join("");
}

/** For a person with cosign and a registry: nothing of this was run. */
export function signingText(version: string, context: string, chart: string): string {
  const image = (target: string): string =>
    [
      `docker build --target=${target} --tag "$REGISTRY/azlb-${target}:${version}" - < ${context}`,
      `docker push "$REGISTRY/azlb-${target}:${version}"`,
      `# DIGEST: as docker push printed it`,
      `cosign sign "$REGISTRY/azlb-${target}@$DIGEST"`,
      `cosign attest --type cyclonedx --predicate sbom-${target === "sandbox" ? "cli" : target}.cdx.json "$REGISTRY/azlb-${target}@$DIGEST"`,
      `cosign attest --type slsaprovenance1 --predicate predicate.json "$REGISTRY/azlb-${target}@$DIGEST"`,
    ].join("\n");
  return `Signing azlb ${version}. Run these in the folder of the release; REGISTRY is where the images go. The release script does not
sign and does not push.

# 1. nothing was changed on the way
sha256sum --check SHA256SUMS

# 2. the checksums, and with them every file (keyless; with a key: --key cosign.key)
cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS

# 3. the images
jq .predicate provenance.intoto.json > predicate.json
${["controller", "agent", "sandbox"].map(image).join("\n\n")}

# 4. the chart
helm push ${chart} "oci://$REGISTRY/charts"
cosign sign "$REGISTRY/charts/azlb@$DIGEST"

# whoever installs it
cosign verify-blob --bundle SHA256SUMS.sigstore.json --certificate-identity "$IDENTITY" --certificate-oidc-issuer "$ISSUER" SHA256SUMS
sha256sum --check SHA256SUMS
`;
}
