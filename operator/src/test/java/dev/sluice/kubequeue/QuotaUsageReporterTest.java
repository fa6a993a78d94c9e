package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The status of a quota tree: docs/kube-queue.md#what-is-used. */
class QuotaUsageReporterTest {

  @Test
  void eachQuotaHasWhatIsUsedThereAndBelow() {
    Map<String, SortedMap<String, Long>> used =
        Map.of(
            "root", new TreeMap<>(Map.of("cpu", 500L)),
            "root/a", new TreeMap<>(Map.of("cpu", 1000L, "memory", 1L << 30)),
            "root/a/b", new TreeMap<>(Map.of("cpu", 2000L)),
            "root/ab", new TreeMap<>(Map.of("cpu", 4000L)));
    String spec =
        "{children: [{name: a, children: [{name: b, namespaces: [x, y]}]}, {name: ab}, {name: c}]}";
    assertThat(QuotaUsageReporter.node(QuotaTrees.yaml(spec), "", QuotaUsageReporter.sums(used)))
        .isEqualTo(
            QuotaTrees.yaml(
                """
                name: root
                used: {cpu: 7500m, memory: 1Gi}
                children:
                - name: a
                  used: {cpu: "3", memory: 1Gi}
                  children:
                  - {name: b, namespaces: [x, y], used: {cpu: "2"}}
                - {name: ab, used: {cpu: "4"}}
                - {name: c, used: {}}
                """));
  }
}
