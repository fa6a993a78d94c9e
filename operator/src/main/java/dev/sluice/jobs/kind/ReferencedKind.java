package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.UnaryOperator;

/**
 * A kind of objects that jobs refer to.
 *
 * @param kind the kind
 * @param namespaced whether its objects are in namespaces
 * @param awaited whether no job is looked at before all its objects are known
 * @param kept what is kept of the spec of an object; must not change the spec
 */
public record ReferencedKind(
    JobKind kind, boolean namespaced, boolean awaited, UnaryOperator<JsonNode> kept) {

  /** A kind without whose objects nothing can be said of a job. */
  public ReferencedKind(JobKind kind, boolean namespaced) {
    this(kind, namespaced, true, UnaryOperator.identity());
  }
}
