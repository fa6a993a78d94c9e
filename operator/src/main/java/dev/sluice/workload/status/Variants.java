package dev.sluice.workload.status;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.NameHash;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.util.List;
import java.util.Map;

/**
 * How parents and variants of concurrent admission are recognized
 * (docs/concurrent-admission.md#objects): by what is stored, which only the operator may write.
 */
public final class Variants {

  /** The reason of the eviction of a parent whose variant was evicted. */
  public static final String EVICTED = "VariantEvicted";

  /** The reason of the eviction of a parent, or a variant, that has quota without the other. */
  public static final String LOST = "ConcurrentAdmission";

  private static final int HASH = 5;
  private static final int HASH_WITH_DASH = HASH + 1;

  private Variants() {}

  /** Whether a Workload has the label of a parent. */
  public static boolean isParent(CachedWorkload workload) {
    return "true".equals(workload.labels().get(KueueConstants.CONCURRENT_ADMISSION_PARENT));
  }

  /** Whether a Workload may become a parent: it is no slice of an elastic job. */
  public static boolean mayBeParent(CachedWorkload workload) {
    return !workload.elastic()
        && !workload.spec().queueName().isEmpty()
        && !workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** Whether a Workload is a variant: a Workload controls it, and it names one flavor. */
  public static boolean isVariant(CachedWorkload workload) {
    return !flavor(workload).isEmpty() && workload.owner().filter(Variants::isWorkload).isPresent();
  }

  private static boolean isWorkload(Owner owner) {
    return owner.kind().equals("Workload")
        && owner.apiVersion().startsWith(KueueConstants.GROUP + "/");
  }

  /** The flavor that a variant may use; empty for other Workloads. */
  public static String flavor(CachedWorkload workload) {
    return workload.annotations().getOrDefault(KueueConstants.ALLOWED_RESOURCE_FLAVORS, "").strip();
  }

  /** The UID of the parent of a variant. */
  public static String parentUid(CachedWorkload workload) {
    return workload.owner().map(Owner::uid).orElse("");
  }

  /** Whether a variant belongs to a parent, and asks for the same: pods run by the parent's. */
  public static boolean isOf(CachedWorkload workload, CachedWorkload parent) {
    return parentUid(workload).equals(parent.id().uid())
        && workload.id().namespace().equals(parent.id().namespace())
        && workload.spec().queueName().equals(parent.spec().queueName())
        && workload.spec().podSets().equals(parent.spec().podSets());
  }

  /** Whether the pods of a parent run in the flavors that a variant was given. */
  public static boolean hasFlavorsOf(CachedWorkload workload, CachedWorkload parent) {
    return flavors(workload).equals(flavors(parent));
  }

  private static List<Map<String, String>> flavors(CachedWorkload workload) {
    return workload.assignments().stream().map(Assignment::flavors).toList();
  }

  /**
   * The name of a variant: the parent's without its hash, the flavor, and a hash that tells parents
   * and flavors apart.
   *
   * @param longest how long the name may become
   */
  public static String name(CachedWorkload parent, String flavor, int longest) {
    String name = parent.id().name();
    int dash = name.lastIndexOf('-');
    String stem =
        dash > 0 && name.length() - dash == HASH_WITH_DASH ? name.substring(0, dash) : name;
    String readable = stem + "-variant-" + flavor;
    return readable.substring(0, Math.min(longest - HASH_WITH_DASH, readable.length()))
        + "-"
        + NameHash.sha1(parent.id().uid() + "\n" + name + "\n" + flavor).substring(0, HASH);
  }
}
