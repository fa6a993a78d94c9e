package dev.sluice.jobs.kind;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;

/**
 * A field of a job that breaks a rule of its kind.
 *
 * @param path its path, as the API server writes paths: {@code spec.groups[0].name}
 * @param value its value; a missing node if the rule requires one
 * @param rule what is required
 */
public record InvalidField(String path, JsonNode value, String rule) {

  /** The path of a field that a pointer leads to, as the API server writes paths. */
  public static String path(JsonPointer pointer) {
    return pointer.toString().substring(1).replaceAll("/([0-9]+)(?=/|$)", "[$1]").replace('/', '.');
  }
}
