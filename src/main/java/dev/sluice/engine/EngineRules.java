package dev.sluice.engine;

import dev.sluice.model.FairSharing;
import java.util.Optional;

/**
 * How an engine decides, by configuration.
 *
 * @param sharing how queues share by weight; empty: they don't
 * @param blockAdmission whether nobody is admitted while pods of admitted Workloads are not ready
 */
public record EngineRules(Optional<FairSharing> sharing, boolean blockAdmission) {

  /** The defaults of the configuration. */
  public static final EngineRules DEFAULT = new EngineRules(Optional.empty(), false);
}
