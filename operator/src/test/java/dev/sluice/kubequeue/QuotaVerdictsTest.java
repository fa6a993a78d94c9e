package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.kubequeue.QuotaReading.QuotaFaults;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What the engine admits with the objects of a tree is what the rules of Kube Queue let through:
 * random trees, with lend limits, limits of the number of jobs and jobs that are not preemptible,
 * against {@link NaiveQuotaTree}. {@code -Dsluice.property.factor=N} plays N times as many.
 */
class QuotaVerdictsTest {

  private static final int TREES = 2_500;
  private static final int REQUESTS = 40;
  private static final List<String> RESOURCES = List.of("cpu", "memory", "example.com/gpu");

  /** The requests of all trees together. */
  private static final long LEAST = 100_000;

  private final Map<Boolean, Long> verdicts = new HashMap<>();
  private long guaranteedOnes;

  @Test
  void theEngineAdmitsWhatTheRulesLetThrough() {
    long trees = TREES * Long.getLong("sluice.property.factor", 1);
    for (long seed = 1; seed <= trees; seed++) {
      play(seed);
    }
    long yes = verdicts.getOrDefault(true, 0L);
    long no = verdicts.getOrDefault(false, 0L);
    System.out.printf(
        "property: quota verdicts trees=%d fits=%d refused=%d guaranteed=%d%n",
        trees, yes, no, guaranteedOnes);
    assertThat(yes + no).isGreaterThanOrEqualTo(LEAST);
    assertThat(Math.min(yes, no)).as("of each verdict").isGreaterThan(LEAST / 10);
  }

  private void play(long seed) {
    Random random = new Random(seed);
    long rate = 1 + seed % 2;
    QuotaTree tree = new QuotaTree(tree(random), true);
    if (!QuotaFaults.of(tree).isEmpty()) {
      throw new AssertionError(seed + ": " + QuotaFaults.of(tree));
    }
    Cluster cluster = new Cluster();
    cluster.settings = QuotaTrees.settings((double) rate, QuotaLabel.LISTED);
    MappedEngine engine = new MappedEngine(cluster.plan(tree));
    NaiveQuotaTree rules = new NaiveQuotaTree(tree, rate);
    List<String> paths = new ArrayList<>();
    tree.root().visit(quota -> paths.add(quota.path()));
    record Running(String id, String path, Map<String, Long> request, boolean guaranteed) {}
    List<Running> running = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      if (!running.isEmpty() && random.nextInt(4) == 0) {
        Running ended = running.remove(random.nextInt(running.size()));
        engine.release(ended.id());
        rules.use(ended.path(), ended.request(), ended.guaranteed(), -1);
      }
      String path = paths.get(random.nextInt(paths.size()));
      Map<String, Long> request = amounts(random, 6);
      boolean guaranteed = random.nextInt(3) == 0;
      boolean expected = rules.fits(path, request, guaranteed);
      guaranteedOnes += guaranteed && expected ? 1 : 0;
      boolean admitted = engine.admits("w" + i, path, request, guaranteed);
      if (admitted != expected) {
        throw new AssertionError(
            ("seed %d, request %d: %s of %s, guaranteed=%s: admitted=%s, expected=%s; running: %s;"
                    + " tree: %s")
                .formatted(
                    seed, i, request, path, guaranteed, admitted, expected, running, tree.root()));
      }
      verdicts.merge(expected, 1L, Long::sum);
      if (expected) {
        rules.use(path, request, guaranteed, 1);
        running.add(new Running("w" + i, path, request, guaranteed));
      }
    }
  }

  /** A tree from the leaves up, so that each max is large enough. */
  private static QuotaDeclaration tree(Random random) {
    return node(random, "root", 1 + random.nextInt(3), true);
  }

  private static QuotaDeclaration node(Random random, String path, int depth, boolean root) {
    List<QuotaDeclaration> children = new ArrayList<>();
    if (depth > 0 && (root || random.nextInt(3) > 0)) {
      IntStream.range(0, 1 + random.nextInt(3))
          .forEach(i -> children.add(node(random, path + "/n" + i, depth - 1, false)));
    }
    Map<String, Long> min = new HashMap<>();
    Map<String, Long> max = new HashMap<>();
    Map<String, Long> lend = new HashMap<>();
    for (String resource : RESOURCES) {
      if (random.nextInt(3) > 0) {
        min.put(resource, (long) random.nextInt(8));
      }
      if (random.nextInt(4) > 0) {
        max.put(
            resource,
            Math.max(sum(children, resource), min.getOrDefault(resource, 0L)) + random.nextInt(6));
      }
      if (min.containsKey(resource) && random.nextInt(3) == 0) {
        lend.put(resource, (long) random.nextInt(8));
      }
    }
    if (random.nextInt(3) == 0) {
      max.put(QuotaDeclaration.MAX_JOBS, 1L + random.nextInt(children.isEmpty() ? 4 : 8));
    }
    return quota(path, min, max, lend, children);
  }

  /** What the children are guaranteed, with all that is guaranteed below them. */
  private static long sum(List<QuotaDeclaration> children, String resource) {
    return children.stream()
        .mapToLong(
            child ->
                Math.max(child.min().getOrDefault(resource, 0L), sum(child.children(), resource)))
        .sum();
  }

  private static QuotaDeclaration quota(
      String path,
      Map<String, Long> min,
      Map<String, Long> max,
      Map<String, Long> lend,
      List<QuotaDeclaration> children) {
    return new QuotaDeclaration(
        QuotaTrees.SOURCE,
        path.substring(path.lastIndexOf('/') + 1),
        path,
        List.of(),
        min,
        max,
        lend,
        !children.isEmpty(),
        children);
  }

  private static Map<String, Long> amounts(Random random, int most) {
    Map<String, Long> result = new HashMap<>();
    for (String resource : RESOURCES) {
      if (random.nextInt(3) > 0) {
        result.put(resource, (long) random.nextInt(most));
      }
    }
    return result;
  }
}
