package dev.sluice.api;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Labels and annotations of Kube Queue that people have in their manifests. */
public final class KubeQueueKeys {

  /** The annotation that holds a job while it is {@code "true"}. */
  public static final String SUSPEND = "scheduling.x-k8s.io/suspend";

  /**
   * The annotation of a job that was given its queue because it named none: the LocalQueue that it
   * was given. While that is the job's queue, the job follows its quota to another one.
   */
  public static final String ASSIGNED_QUEUE = "sluice.dev/assigned-queue";

  /**
   * The annotation of a ResourceQuota that makes a queue of it if it is {@code "true"}, and keeps
   * it from being one if it is {@code "false"}, whatever else would make it one.
   */
  public static final String QUEUE = "sluice.dev/queue";

  /** The labels that name a quota; an earlier one wins. */
  public static final List<String> QUOTA_NAMES =
      List.of(
          "quota.scheduling.alibabacloud.com/name",
          "quota.scheduling.koordinator.sh/name",
          "alibabacloud.com/quota-name");

  private static final List<String> PREFIXES = List.of("koord-queue/", "kube-queue/");

  private KubeQueueKeys() {}

  /** The quota that labels name; empty if they name none. */
  public static Optional<String> quotaName(Map<String, String> labels) {
    return QUOTA_NAMES.stream()
        .map(key -> labels.getOrDefault(key, ""))
        .filter(name -> !name.isEmpty())
        .findFirst();
  }

  /** Whether a key of labels or annotations is one of either product. */
  public static boolean isOfKubeQueue(String key) {
    return PREFIXES.stream().anyMatch(key::startsWith);
  }

  /**
   * The value of a key of either product; that of the later product wins. Empty without a value.
   *
   * @param key without the prefix, such as {@code queue-name}
   */
  public static Optional<String> annotation(Map<String, String> annotations, String key) {
    return PREFIXES.stream()
        .map(prefix -> annotations.getOrDefault(prefix + key, ""))
        .filter(value -> !value.isEmpty())
        .findFirst();
  }
}
