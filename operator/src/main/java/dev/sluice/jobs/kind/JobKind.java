package dev.sluice.jobs.kind;

import dev.sluice.api.KueueConstants;
import dev.sluice.kube.client.ObjectPath;
import java.util.Locale;

/**
 * A kind of job.
 *
 * @param group its API group; empty for the core group
 * @param version the version it is read and written in
 * @param kind its kind
 * @param plural its resource name in paths
 * @param framework its name in the configuration's list of integrations
 */
public record JobKind(String group, String version, String kind, String plural, String framework) {

  /** Workloads, where one is looked at as an object among others. */
  public static final JobKind WORKLOAD =
      new JobKind(KueueConstants.GROUP, "v1beta2", "Workload", "workloads", "");

  /**
   * A kind of the usual names: the plural follows the English rule, and the framework is {@code
   * group/singular}.
   */
  public static JobKind of(String group, String version, String kind) {
    String singular = kind.toLowerCase(Locale.ROOT);
    return new JobKind(group, version, kind, plural(singular), group + "/" + singular);
  }

  /** A kind of the usual names, from {@code Kind.version.group}. */
  public static JobKind parse(String name) {
    String[] parts = name.split("\\.", 3);
    return of(parts[2], parts[1], parts[0]);
  }

  private static String plural(String singular) {
    if (singular.endsWith("s")
        || singular.endsWith("x")
        || singular.endsWith("ch")
        || singular.endsWith("sh")) {
      return singular + "es";
    }
    boolean y =
        singular.endsWith("y") && "aeiou".indexOf(singular.charAt(singular.length() - 2)) < 0;
    return y ? singular.substring(0, singular.length() - 1) + "ies" : singular + "s";
  }

  /**
   * Whether the API server has the kind by itself. Groups of definitions have a dot, and groups
   * without one are the API server's.
   */
  public boolean isBuiltIn() {
    return group.indexOf('.') < 0;
  }

  /** The name of the CustomResourceDefinition of a kind that the API server does not have. */
  public String definition() {
    return plural + "." + group;
  }

  /** {@code group/version}, or the version alone in the core group. */
  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** The path of all objects of this kind at the API server. */
  public String collection() {
    return new ObjectPath(apiVersion(), "", plural, "").collection();
  }

  /** The path of one object of this kind at the API server. */
  public String path(String namespace, String name) {
    return new ObjectPath(apiVersion(), namespace, plural, name).object();
  }

  /** Whether an owner reference with these fields means this kind, in whatever version. */
  public boolean is(String apiVersion, String kind) {
    int slash = apiVersion.indexOf('/');
    String otherGroup = slash < 0 ? "" : apiVersion.substring(0, slash);
    return this.kind.equals(kind) && group.equals(otherGroup);
  }
}
