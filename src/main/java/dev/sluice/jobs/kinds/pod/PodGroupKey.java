package dev.sluice.jobs.kinds.pod;

/**
 * What has one Workload and is looked at by one thread at a time.
 *
 * @param name the pod's, or the group's
 */
record PodGroupKey(boolean group, String namespace, String name) {

  /** The unit that a pod belongs to. */
  static PodGroupKey of(CachedPod pod) {
    return pod.group()
        .map(group -> group(pod.namespace(), group.name()))
        .orElseGet(() -> single(pod.namespace(), pod.name()));
  }

  static PodGroupKey single(String namespace, String name) {
    return new PodGroupKey(false, namespace, name);
  }

  static PodGroupKey group(String namespace, String name) {
    return new PodGroupKey(true, namespace, name);
  }

  @Override
  public String toString() {
    return (group ? "pod group " : "Pod ") + namespace + "/" + name;
  }
}
