package dev.sluice.checks.multikueue.sending;

import java.util.List;

/** The manager's pods that belong to groups. Readable from any thread. */
@FunctionalInterface
public interface LocalPods {

  /** As far as is known of a pod; {@code deleting} means that it has a deletion timestamp. */
  record LocalPod(String name, String uid, boolean deleting) {}

  /** Of no pod is anything known. */
  LocalPods NONE = (namespace, group) -> List.of();

  /** The pods of a group, whose name is that of its Workload; none when nothing is known. */
  List<LocalPod> group(String namespace, String group);
}
