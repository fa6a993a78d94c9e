package dev.sluice.kubequeue;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.NameHash;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.SourceMark.Identity;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Names of objects that are made from quotas. An object that was made from a quota keeps its name;
 * a new one never gets the name of an object that wasn't.
 */
final class NameAllocator {

  private static final int SUFFIX = 5;

  private final Map<ObjectId, ExistingObject> existing;
  private final Map<ObjectKind, Map<List<Object>, String>> known = new HashMap<>();
  private final Predicate<SourceMark> replaceable;
  private final Set<ObjectId> given = new HashSet<>();

  /** Cohorts that objects of others are in; some of them have no object. */
  private final Set<String> joined = new HashSet<>();

  /**
   * Gives names.
   *
   * @param replaceable whether an object with this mark may be made into another quota's
   */
  NameAllocator(Map<ObjectId, ExistingObject> existing, Predicate<SourceMark> replaceable) {
    this.existing = existing;
    this.replaceable = replaceable;
    for (ExistingObject object : existing.values()) {
      if (object.mark().isEmpty()) {
        joined.add(object.spec().path("cohortName").asText());
        joined.add(object.spec().path("parentName").asText());
      }
      object
          .mark()
          .ifPresent(
              mark ->
                  known
                      .computeIfAbsent(object.id().kind(), any -> new HashMap<>())
                      .merge(
                          key(object.id().namespace(), mark.identity()),
                          object.id().name(),
                          (one, other) -> one.compareTo(other) < 0 ? one : other));
    }
  }

  private static List<Object> key(String namespace, Identity identity) {
    return List.of(namespace, identity);
  }

  /**
   * The name of an object.
   *
   * @param base the name that it has unless that is taken
   * @param taken told of the name that was taken and of the one given instead
   */
  String name(
      ObjectKind kind,
      String namespace,
      String base,
      SourceMark mark,
      BiConsumer<String, String> taken) {
    String before = known.getOrDefault(kind, Map.of()).get(key(namespace, mark.identity()));
    if (before != null && given.add(new ObjectId(kind, namespace, before))) {
      return before;
    }
    ObjectId wanted = new ObjectId(kind, namespace, base);
    if (isFree(wanted)) {
      given.add(wanted);
      return base;
    }
    String other = free(kind, namespace, base, mark);
    given.add(new ObjectId(kind, namespace, other));
    taken.accept(base, other);
    return other;
  }

  /** The base with as many digits of the hash as it takes to be nobody's name. */
  private String free(ObjectKind kind, String namespace, String base, SourceMark mark) {
    int longest =
        kind == ObjectKind.LOCAL_QUEUE ? KubernetesNames.MAX_NAME : KubernetesNames.MAX_SUBDOMAIN;
    String hash = hash(mark);
    int digits = SUFFIX;
    String name = withSuffix(base, longest, hash.substring(0, digits));
    while (!isFree(new ObjectId(kind, namespace, name)) && digits < hash.length()) {
      digits++;
      name = withSuffix(base, longest, hash.substring(0, digits));
    }
    return name;
  }

  private boolean isFree(ObjectId id) {
    ExistingObject object = existing.get(id);
    boolean implicit = id.kind() == ObjectKind.COHORT && joined.contains(id.name());
    return !given.contains(id)
        && (object == null ? !implicit : object.mark().filter(replaceable).isPresent());
  }

  /** How much of a name is read: the expressions below take the square of its length. */
  private static final int MOST_READ = 1024;

  /** The name of a ClusterQueue or Cohort of a quota, as far as nobody else has it. */
  static String baseName(SourceMark mark, String fullName) {
    String cut = fullName.substring(0, Math.min(fullName.length(), MOST_READ));
    String text =
        cut.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.]", "-").replaceAll("\\.+", ".");
    String trimmed =
        text.replaceAll("-*\\.-*", ".").replaceAll("^[-.]+", "").replaceAll("[-.]+$", "");
    if (trimmed.isEmpty()) {
      return "quota-" + hash(mark).substring(0, SUFFIX);
    }
    return trimmed.length() <= KubernetesNames.MAX_SUBDOMAIN
        ? trimmed
        : withSuffix(trimmed, KubernetesNames.MAX_SUBDOMAIN, mark);
  }

  /** The name of a LocalQueue of a ClusterQueue: jobs carry it as the value of a label. */
  static String localName(SourceMark mark, String clusterQueue) {
    return clusterQueue.length() > KubernetesNames.MAX_NAME || clusterQueue.equals("default")
        ? withSuffix(clusterQueue, KubernetesNames.MAX_NAME, mark)
        : clusterQueue;
  }

  /** The name, cut if need be, with a suffix that tells the source apart. */
  static String withSuffix(String base, int longest, SourceMark mark) {
    return withSuffix(base, longest, hash(mark).substring(0, SUFFIX));
  }

  private static String withSuffix(String base, int longest, String suffix) {
    int room = longest - suffix.length() - 1;
    String cut = base.length() <= room ? base : base.substring(0, room).replaceAll("[-.]+$", "");
    return cut + "-" + suffix;
  }

  private static String hash(SourceMark mark) {
    return NameHash.sha1(mark.uid() + "/" + mark.path());
  }
}
