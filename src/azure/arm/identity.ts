/** The part of `@azure/identity` that `credentials.ts` needs, so that a bundle leaves the rest out. Loaded at the first sign-in. */
export {
  ClientAssertionCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  ManagedIdentityCredential,
} from "@azure/identity";
