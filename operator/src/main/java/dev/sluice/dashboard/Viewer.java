package dev.sluice.dashboard;

import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.UserAction;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * One user, and what the cluster lets him list. Each answer of the cluster is kept for a minute, so
 * that a live page doesn't ask for each of its refreshes.
 */
final class Viewer {

  /** How long an answer of the cluster counts. */
  static final Duration TTL = Duration.ofMinutes(1);

  /** The most namespaces that are asked about one by one; further ones aren't shown. */
  static final int MAX_NAMESPACES = 500;

  /** What can be listed. */
  enum Kind {
    COHORTS("kueue.x-k8s.io", "v1beta2", "cohorts"),
    CLUSTER_QUEUES("kueue.x-k8s.io", "v1beta2", "clusterqueues"),
    LOCAL_QUEUES("kueue.x-k8s.io", "v1beta2", "localqueues"),
    WORKLOADS("kueue.x-k8s.io", "v1beta2", "workloads"),
    WORKER_CLUSTERS("kueue.x-k8s.io", "v1beta2", "multikueueclusters"),
    TOPOLOGIES("kueue.x-k8s.io", "v1beta2", "topologies"),
    RESOURCE_FLAVORS("kueue.x-k8s.io", "v1beta2", "resourceflavors"),
    BUDGETS("sluice.dev", "v1alpha1", "budgets"),
    RESERVATIONS("sluice.dev", "v1alpha1", "capacityreservations"),
    NODES("", "v1", "nodes");

    private final String group;
    private final String version;
    private final String resource;

    Kind(String group, String version, String resource) {
      this.group = group;
      this.version = version;
      this.resource = resource;
    }

    private UserAction list(String namespace) {
      return new UserAction.OnResource("list", group, version, resource, "", namespace, "");
    }
  }

  private record Question(Kind kind, String namespace) {}

  private record Remembered(boolean allowed, Instant until) {}

  private final UserInfo user;
  private final AccessReviews access;
  private final InstantSource clock;
  private final Map<Question, Remembered> answers = new ConcurrentHashMap<>();

  Viewer(UserInfo user, AccessReviews access, InstantSource clock) {
    this.user = user;
    this.access = access;
    this.clock = clock;
  }

  String name() {
    return user.getUsername();
  }

  /**
   * Whether he may list this kind in the whole cluster.
   *
   * @throws KubernetesClientException when the cluster can't be asked
   */
  boolean sees(Kind kind) {
    return allowed(new Question(kind, ""));
  }

  /**
   * Whether he may list this kind in a namespace.
   *
   * @throws KubernetesClientException when the cluster can't be asked
   */
  boolean sees(Kind kind, String namespace) {
    return sees(kind) || (!namespace.isEmpty() && allowed(new Question(kind, namespace)));
  }

  /** Which namespaces show him objects of this kind. */
  Predicate<String> namespaces(Kind kind) {
    return sees(kind) ? any -> true : namespace -> sees(kind, namespace);
  }

  private boolean allowed(Question question) {
    Instant now = clock.instant();
    Remembered known = answers.get(question);
    if (known != null && now.isBefore(known.until())) {
      return known.allowed();
    }
    if (known == null && answers.size() >= MAX_NAMESPACES * 2) {
      answers.values().removeIf(answer -> !now.isBefore(answer.until()));
      if (answers.size() >= MAX_NAMESPACES * 2) {
        return false;
      }
    }
    boolean allowed = access.isAllowed(user, question.kind().list(question.namespace()));
    answers.put(question, new Remembered(allowed, now.plus(TTL)));
    return allowed;
  }
}
