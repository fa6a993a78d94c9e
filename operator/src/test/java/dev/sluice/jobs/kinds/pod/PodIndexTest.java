package dev.sluice.jobs.kinds.pod;

import static dev.sluice.jobs.kinds.pod.GivenPod.member;
import static dev.sluice.jobs.kinds.pod.GivenPod.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Who is found, and in which group. */
class PodIndexTest {

  private final PodIndex directory = new PodIndex();

  @Test
  void podsAreFoundByNameAndByGroup() {
    directory.put(member("b", 2).view());
    directory.put(member("a", 2).view());
    directory.put(pod("alone").view());
    assertThat(directory.namesOf("team", "sample")).containsExactly("a", "b");
    assertThat(directory.namesOf("other", "sample")).isEmpty();
    assertThat(directory.find("team", "alone")).isPresent();
  }

  @Test
  void whoChangesIsThereAsItIsNow() {
    directory.put(member("a", 2).view());
    assertThat(directory.put(member("a", 2).running().view()).orElseThrow().gated()).isTrue();
    assertThat(directory.group("team", "sample"))
        .extracting(CachedPod::gated)
        .containsExactly(false);
  }

  @Test
  void whoJoinsAnotherGroupLeavesTheFirst() {
    directory.put(member("a", 2).view());
    directory.put(member("a", 2).annotation(KueueConstants.POD_GROUP_NAME, "other").view());
    assertThat(directory.hasGroup("team", "sample")).isFalse();
    assertThat(directory.namesOf("team", "other")).containsExactly("a");
  }

  @Test
  void rolloutsOfAKindThatIsNotFollowedAnyMoreAreNotAskedFor() {
    Predicate<CachedPod> rollouts = any -> true;
    CachedPod pod = member("a", 2).view();
    directory.addRollouts(rollouts);
    assertThat(directory.isReplaced(pod)).isTrue();

    directory.removeRollouts(rollouts);
    assertThat(directory.isReplaced(pod)).isFalse();
  }

  @Test
  void whoIsGoneIsInNoGroup() {
    CachedPod pod = member("a", 2).view();
    directory.put(pod);
    directory.remove(pod);
    assertThat(directory.find("team", "a")).isEmpty();
    assertThat(directory.hasGroup("team", "sample")).isFalse();
  }
}
