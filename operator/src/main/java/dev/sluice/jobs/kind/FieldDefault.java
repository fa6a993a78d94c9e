package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A field that a managed job of a kind gets when it is created.
 *
 * @param path the names of the fields that lead to it
 * @param value its value, which takes the place of any other
 */
public record FieldDefault(List<String> path, JsonNode value) {

  /** Copies the path. */
  public FieldDefault {
    path = List.copyOf(path);
  }
}
