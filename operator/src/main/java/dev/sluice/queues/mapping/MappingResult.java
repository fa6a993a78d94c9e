package dev.sluice.queues.mapping;

import java.util.List;

/**
 * Result of mapping an object: a usable value in any case, and the faults of the object.
 *
 * @param value the value, with a safe default in place of each fault
 * @param faults one sentence per fault, with field, value and what is allowed
 */
public record MappingResult<T>(T value, List<String> faults) {

  public MappingResult {
    faults = List.copyOf(faults);
  }
}
