package dev.sluice.core.engine;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import java.util.Optional;

/**
 * Options of the engine, from the configuration.
 *
 * @param sharing parameters of fair sharing; empty: disabled
 * @param blockAdmission whether no Workload is admitted while pods of admitted Workloads are not
 *     ready
 * @param turns parameters of admission fair sharing; empty: disabled
 */
public record EngineOptions(
    Optional<FairSharing> sharing, boolean blockAdmission, Optional<AdmissionFairSharing> turns) {

  /** The defaults of the configuration. */
  public static final EngineOptions DEFAULT = new EngineOptions(Optional.empty(), false);

  /** Options without admission fair sharing. */
  public EngineOptions(Optional<FairSharing> sharing, boolean blockAdmission) {
    this(sharing, blockAdmission, Optional.empty());
  }
}
