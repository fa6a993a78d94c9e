package dev.sluice.engine;

import dev.sluice.model.AdmissionFairSharing;
import dev.sluice.model.FairSharing;
import java.util.Optional;

/**
 * How an engine decides, by configuration.
 *
 * @param sharing how queues share by weight; empty: they don't
 * @param blockAdmission whether nobody is admitted while pods of admitted Workloads are not ready
 * @param turns how LocalQueues of a ClusterQueue take turns by what they used; empty: they don't
 */
public record EngineRules(
    Optional<FairSharing> sharing, boolean blockAdmission, Optional<AdmissionFairSharing> turns) {

  /** The defaults of the configuration. */
  public static final EngineRules DEFAULT = new EngineRules(Optional.empty(), false);

  /** Rules by which no LocalQueues take turns. */
  public EngineRules(Optional<FairSharing> sharing, boolean blockAdmission) {
    this(sharing, blockAdmission, Optional.empty());
  }
}
