package dev.sluice.core.engine;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.topology.TopologyOptions;
import java.util.Optional;

/**
 * Options of the engine, from the configuration.
 *
 * @param fairSharing parameters of fair sharing; empty: disabled
 * @param blockAdmission whether no Workload is admitted while pods of admitted Workloads are not
 *     ready
 * @param admissionFairSharing parameters of admission fair sharing; empty: disabled
 * @param order what decides between the heads of queues
 * @param topology how topologies are used
 */
public record EngineOptions(
    Optional<FairSharing> fairSharing,
    boolean blockAdmission,
    Optional<AdmissionFairSharing> admissionFairSharing,
    OrderingRules order,
    TopologyOptions topology) {

  /** The defaults of the configuration. */
  public static final EngineOptions DEFAULT = new EngineOptions(Optional.empty(), false);

  /** Options with the defaults for topologies. */
  public EngineOptions(
      Optional<FairSharing> fairSharing,
      boolean blockAdmission,
      Optional<AdmissionFairSharing> admissionFairSharing,
      OrderingRules order) {
    this(fairSharing, blockAdmission, admissionFairSharing, order, TopologyOptions.DEFAULT);
  }

  /** Options without admission fair sharing, and with the default order. */
  public EngineOptions(Optional<FairSharing> fairSharing, boolean blockAdmission) {
    this(fairSharing, blockAdmission, Optional.empty(), OrderingRules.DEFAULT);
  }
}
