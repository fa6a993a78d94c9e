package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ReferencedKind;
import java.util.List;
import java.util.Optional;

/**
 * How the own controller of a kind is played. An implementation is a description: pure functions of
 * objects, without state, clock or requests. Its Javadoc says where the real controller differs.
 */
public interface PlayedKind {

  /** The conditions by which kinds tell that a job has ended. */
  List<String> ENDS = List.of("Succeeded", "Failed", "Complete", "Completed");

  /** The kind. */
  JobKind kind();

  /** The kinds of the objects that the controller creates; the API server must serve them. */
  default List<JobKind> childKinds() {
    return List.of(JobKind.of("batch", "v1", "Job"), JobKind.of("", "v1", "Pod"));
  }

  /**
   * The objects that the controller wants to exist for an object, of the kinds of {@link
   * #childKinds}: metadata with a name that stays the same, and spec. Owner and namespace are added
   * by the player. What exists and isn't wanted is deleted.
   */
  List<ObjectNode> children(JsonNode object);

  /** The kinds of objects that the controller reads besides; their definitions are installed. */
  default List<ReferencedKind> reads() {
    return List.of();
  }

  /**
   * The same for a controller that reads other objects.
   *
   * @param read all objects that it reads, of all namespaces
   */
  default List<ObjectNode> children(JsonNode object, List<ObjectNode> read) {
    return children(object);
  }

  /**
   * The name of the other child, a pod, that creates a child and is its controller; empty if the
   * object itself is.
   */
  default Optional<String> creator(JsonNode object, ObjectNode child) {
    return Optional.empty();
  }

  /** Whether the controller creates what it wants; what exists stays in any case. */
  default boolean creates(JsonNode object) {
    return true;
  }

  /** Whether a child that exists is deleted, so that it is made anew as it is wanted now. */
  default boolean replaces(ObjectNode present, ObjectNode wanted) {
    return false;
  }

  /** Whether the status is written apart from the rest of the object. */
  default boolean hasStatusSubresource() {
    return true;
  }

  /**
   * Whether the controller has reported an end: it makes nothing any more, whatever the description
   * says from then on, and reports nothing else.
   */
  default boolean isFinal(JsonNode object) {
    return ENDS.stream().anyMatch(type -> JobConditions.isTrue(object, type));
  }

  /**
   * The status that the controller writes.
   *
   * @param children the objects that exist, as the API server has them
   */
  ObjectNode status(JsonNode object, List<ObjectNode> children);
}
