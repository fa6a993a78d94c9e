package dev.sluice.jobs.pods;

/**
 * What has one Workload and is looked at by one thread at a time.
 *
 * @param name the pod's, or the group's
 */
record PodUnit(boolean group, String namespace, String name) {

  /** The unit that a pod belongs to. */
  static PodUnit of(PodView pod) {
    return pod.group()
        .map(group -> group(pod.namespace(), group.name()))
        .orElseGet(() -> single(pod.namespace(), pod.name()));
  }

  static PodUnit single(String namespace, String name) {
    return new PodUnit(false, namespace, name);
  }

  static PodUnit group(String namespace, String name) {
    return new PodUnit(true, namespace, name);
  }

  @Override
  public String toString() {
    return (group ? "pod group " : "Pod ") + namespace + "/" + name;
  }
}
