package dev.sluice.jobs.policy;

import java.util.Optional;
import java.util.OptionalInt;

/** The priority classes of both kinds. Readable from any thread. */
public interface PriorityLookup {

  /** The value of a WorkloadPriorityClass; empty when there is none of this name. */
  OptionalInt workloadPriorityClass(String name);

  /** The value of a core PriorityClass; empty when there is none of this name. */
  OptionalInt priorityClass(String name);

  /** The core PriorityClass that pods without one get: of several defaults the lowest. */
  Optional<Named> globalDefault();

  /** A class with its value. */
  record Named(String name, int value) {}
}
