package dev.sluice.queues.mapping;

import java.util.List;

/**
 * What became of an object: a value that the engine can use in any case, and what was wrong.
 *
 * @param value the value; where something was wrong, with the harmless choice in its place
 * @param faults one sentence for each thing that was wrong, naming field, value and what is allowed
 */
public record MappingResult<T>(T value, List<String> faults) {

  public MappingResult {
    faults = List.copyOf(faults);
  }
}
