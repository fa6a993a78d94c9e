package dev.sluice.kubequeue;

import dev.sluice.api.KueueConstants;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What tells that an object was made from a quota, as annotations of the object.
 *
 * @param kind of the source
 * @param namespace of the source
 * @param name of the source
 * @param uid of the source
 * @param path of the quota within the source
 * @param scopes which pods the quota is about ({@link PodScopes#text}); empty: all
 */
public record SourceMark(
    String kind, String namespace, String name, String uid, String path, String scopes) {

  private static final String KIND = KueueConstants.SOURCE_KIND;

  private static final String NAMESPACE = "sluice.dev/source-namespace";
  private static final String NAME = "sluice.dev/source-name";
  private static final String UID = "sluice.dev/source-uid";
  private static final String PATH = "sluice.dev/source-path";
  private static final String SCOPES = "sluice.dev/source-scopes";

  /** In whose name objects are written. */
  static final String FIELD_OWNER = "sluice-kubequeue";

  /** The annotation of an object whose quota is gone. */
  static final String REMOVED = "sluice.dev/source-removed";

  /** The annotation of a LocalQueue that was made because a job named the quota by a label. */
  static final String ON_DEMAND = "sluice.dev/on-demand";

  /** The annotation of a ClusterQueue that says which other quotas' jobs may choose it. */
  static final String LISTED = "sluice.dev/available-quota";

  /** All annotations that say where an object comes from, and whether it is still needed. */
  static final List<String> KEYS =
      List.of(KIND, NAMESPACE, NAME, UID, PATH, SCOPES, REMOVED, ON_DEMAND);

  /** The mark of what is about all pods. */
  public SourceMark(String kind, String namespace, String name, String uid, String path) {
    this(kind, namespace, name, uid, path, "");
  }

  /** What identifies a quota although its source was deleted and made again. */
  public record Identity(String kind, String path) {}

  /** The mark of what is made from a quota. */
  static SourceMark of(QuotaSource source, String path) {
    return new SourceMark(
        source.kind(), source.namespace(), source.name(), source.uid(), path, source.scopes());
  }

  /** The mark on an object with these annotations; empty if it wasn't made from a quota. */
  public static Optional<SourceMark> of(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(KIND))
        .map(
            kind ->
                new SourceMark(
                    kind,
                    annotations.getOrDefault(NAMESPACE, ""),
                    annotations.getOrDefault(NAME, ""),
                    annotations.getOrDefault(UID, ""),
                    annotations.getOrDefault(PATH, ""),
                    annotations.getOrDefault(SCOPES, "")));
  }

  /** The mark on an object; empty if it wasn't made from a quota. */
  static Optional<SourceMark> of(HasMetadata object) {
    return of(annotationsOf(object));
  }

  /** What an object has of the annotations {@link #KEYS}. */
  static Map<String, String> annotationsOf(HasMetadata object) {
    Map<String, String> result = new TreeMap<>();
    Map<String, String> annotations = object.getMetadata().getAnnotations();
    if (annotations != null) {
      for (String key : KEYS) {
        String value = annotations.get(key);
        if (value != null) {
          result.put(key, value);
        }
      }
    }
    return result;
  }

  /** The name of the quota: the last part of the path, or the name of the source. */
  String quota() {
    return path.isEmpty() ? name : path.substring(path.lastIndexOf('/') + 1);
  }

  /** The annotations. */
  Map<String, String> annotations() {
    Map<String, String> result = new TreeMap<>();
    result.put(KIND, kind);
    result.put(NAMESPACE, namespace);
    result.put(NAME, name);
    result.put(UID, uid);
    result.put(PATH, path);
    if (!scopes.isEmpty()) {
      result.put(SCOPES, scopes);
    }
    return result;
  }

  /** What identifies the quota. */
  Identity identity() {
    return new Identity(kind, path);
  }
}
