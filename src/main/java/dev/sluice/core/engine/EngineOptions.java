package dev.sluice.core.engine;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import java.util.Optional;

/**
 * How an engine decides, by configuration.
 *
 * @param sharing how queues share by weight; empty: they don't
 * @param blockAdmission whether nobody is admitted while pods of admitted Workloads are not ready
 * @param turns how LocalQueues of a ClusterQueue take turns by what they used; empty: they don't
 */
public record EngineOptions(
    Optional<FairSharing> sharing, boolean blockAdmission, Optional<AdmissionFairSharing> turns) {

  /** The defaults of the configuration. */
  public static final EngineOptions DEFAULT = new EngineOptions(Optional.empty(), false);

  /** Rules by which no LocalQueues take turns. */
  public EngineOptions(Optional<FairSharing> sharing, boolean blockAdmission) {
    this(sharing, blockAdmission, Optional.empty());
  }
}
