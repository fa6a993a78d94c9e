package dev.sluice.jobs.kind;

import java.util.List;

/**
 * A kind whose jobs are held back by the gates of their pods: no field of the object suspends it or
 * names the controller that runs it.
 */
public interface GatedKind extends JobKindDescription {

  @Override
  default List<String> suspendField() {
    return List.of();
  }

  @Override
  default List<String> managedByField() {
    return List.of();
  }
}
