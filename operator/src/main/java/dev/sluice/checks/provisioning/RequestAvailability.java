package dev.sluice.checks.provisioning;

/** Whether the cluster has ProvisioningRequests. */
enum RequestAvailability {
  /** The definitions or configurations are not listed yet, or nobody needs to know. */
  UNKNOWN,
  /** The API server doesn't serve the kind. */
  ABSENT,
  /** The API server serves the kind, and its objects are being listed. */
  LISTING,
  /** All objects are known. */
  LISTED
}
