package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kubequeue.CachedJobIntake.QueueResolver;
import dev.sluice.kubequeue.CachedJobIntake.QueueResolver.QuotaQueue;
import dev.sluice.kubequeue.CachedJobIntake.QueueResolver.Resolution;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QueueResolverTest {

  private static final String LABEL = "quota.scheduling.alibabacloud.com/name";
  private static final QuotaQueue VIDEO =
      new QuotaQueue("root-algorithm-video", "video", "root/algorithm/video", List.of());
  private static final QuotaQueue AUDIO =
      new QuotaQueue("root-algorithm-audio", "audio", "root/algorithm/audio", List.of("video"));
  private static final QuotaQueue OPEN = new QuotaQueue("open", "open", "", List.of("*"));
  private static final List<QuotaQueue> ALL = List.of(VIDEO, AUDIO, OPEN);

  private static Resolution resolve(
      Map<String, String> labels, Map<String, String> annotations, String namespaceQueue) {
    return QueueResolver.resolve(
        labels, annotations, Optional.of(namespaceQueue).filter(it -> !it.isEmpty()), ALL);
  }

  private static String queue(
      Map<String, String> labels, Map<String, String> annotations, String namespaceQueue) {
    return resolve(labels, annotations, namespaceQueue) instanceof Resolution.Found found
        ? found.queue().clusterQueue()
        : "none";
  }

  @Test
  void theNamespaceGivesTheQueueOfAJobThatSaysNothing() {
    assertThat(queue(Map.of(), Map.of(), "root-algorithm-video")).isEqualTo("root-algorithm-video");
    assertThat(resolve(Map.of(), Map.of(), "")).isEqualTo(new Resolution.Unmapped());
    assertThat(resolve(Map.of(), Map.of(), "by-hand")).isEqualTo(new Resolution.Unmapped());
  }

  @Test
  void theLabelWinsOverTheNamespaceAndNamesAQuotaByNameOrByPath() {
    for (String name : List.of("audio", "root/algorithm/audio")) {
      assertThat(queue(Map.of(LABEL, name), Map.of(), "root-algorithm-video"))
          .isEqualTo("root-algorithm-audio");
    }
    assertThat(resolve(Map.of(LABEL, "text"), Map.of(), "root-algorithm-video"))
        .isEqualTo(new Resolution.UnknownQuota("text"));
    assertThat(queue(Map.of(LABEL, ""), Map.of(), "open")).isEqualTo("open");
  }

  @Test
  void ofSeveralLabelsTheFirstKeyWins() {
    Map<String, String> labels =
        Map.of(
            "alibabacloud.com/quota-name", "open",
            "quota.scheduling.koordinator.sh/name", "audio");
    assertThat(queue(labels, Map.of(), "")).isEqualTo("root-algorithm-audio");
    assertThat(queue(Map.of("alibabacloud.com/quota-name", "open"), Map.of(), ""))
        .isEqualTo("open");
  }

  @Test
  void theAnnotationChoosesAQueueThatListsTheQuota() {
    assertThat(
            queue(Map.of(), Map.of("kube-queue/queue-name", "root-algorithm-audio"), VIDEO_QUEUE))
        .isEqualTo("root-algorithm-audio");
    assertThat(queue(Map.of(), Map.of("kube-queue/queue-name", "open"), VIDEO_QUEUE))
        .isEqualTo("open");
    assertThat(
            queue(
                Map.of(),
                Map.of("kube-queue/queue-name", "open", "koord-queue/queue-name", VIDEO_QUEUE),
                VIDEO_QUEUE))
        .isEqualTo(VIDEO_QUEUE);
  }

  @Test
  void anAnnotationThatIsNotAllowedLeavesTheQueueOfTheQuota() {
    Map<String, String> video = Map.of("kube-queue/queue-name", VIDEO_QUEUE);
    assertThat(queue(Map.of(LABEL, "audio"), video, "")).isEqualTo("root-algorithm-audio");
    assertThat(queue(Map.of(), Map.of("kube-queue/queue-name", "gone"), VIDEO_QUEUE))
        .isEqualTo(VIDEO_QUEUE);
    assertThat(resolve(Map.of(), Map.of("kube-queue/queue-name", "open"), ""))
        .isEqualTo(new Resolution.Unmapped());
  }

  private static final String VIDEO_QUEUE = "root-algorithm-video";
}
