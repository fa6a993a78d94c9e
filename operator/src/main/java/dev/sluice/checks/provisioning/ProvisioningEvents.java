package dev.sluice.checks.provisioning;

import dev.sluice.workload.record.CachedWorkload;

/** Records events about the requests of Workloads. Thread-safe. */
public interface ProvisioningEvents {

  /**
   * Records an event on a Workload.
   *
   * @param reason one word in CamelCase
   * @param note what happened, in one sentence
   */
  void record(CachedWorkload workload, boolean warning, String reason, String note);
}
