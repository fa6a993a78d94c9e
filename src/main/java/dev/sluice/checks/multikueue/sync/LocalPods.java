package dev.sluice.checks.multikueue.sync;

import java.util.List;
import java.util.function.BiConsumer;

/** The manager's pods that belong to groups. From any thread. */
public interface LocalPods {

  /** As far as is known of a pod; {@code deleting} means that it has a deletion timestamp. */
  record LocalPod(String name, String uid, boolean deleting) {}

  /** The pods of a group, whose name is that of its Workload; none when nothing is known. */
  List<LocalPod> group(String namespace, String group);

  /** Has this told of every group whose pods come, go, or begin to be deleted. */
  void observe(BiConsumer<String, String> observer);
}
