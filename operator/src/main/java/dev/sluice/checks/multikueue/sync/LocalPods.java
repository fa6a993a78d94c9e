package dev.sluice.checks.multikueue.sync;

import java.util.List;
import java.util.function.BiConsumer;

/** The manager's pods that belong to groups. Thread-safe. */
public interface LocalPods {

  /**
   * A pod of a group.
   *
   * @param deleting whether it has a deletion timestamp
   */
  record LocalPod(String name, String uid, boolean deleting) {}

  /** The known pods of a group; the name of the group is the name of its Workload. */
  List<LocalPod> group(String namespace, String group);

  /**
   * Registers an observer, called with namespace and name of each group whose pods are created,
   * deleted, or get a deletion timestamp.
   */
  void observe(BiConsumer<String, String> observer);
}
