package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The reference itself: what it knows of those whom it looked at in vain. */
class ReferenceParkingTest {

  private static final class World extends SmallWorld {

    World(ReferenceEngine.Waking waking) {
      super(32, waking);
    }
  }

  @Test
  void thatAClassLacksQuotaIsKnownThoughOneOfItFittedAndIsHeld() {
    World world = new World(ReferenceEngine.Waking.HELPED);
    world.queue("q", "", PreemptionPolicies.NEVER, SmallWorld.flavor("f", 8));
    world.queue("users", "", PreemptionPolicies.NEVER, SmallWorld.flavor("f", 1));
    world.running("most", "q", 7, 0);
    world.submit("large", "q", 8, 0, time(20));
    assertThat(world.engine.cycle()).isEmpty();
    world.engine.fold(
        new SchedulerEvent.ReservationsChanged(
            List.of(
                new ReservedCapacity(
                    "r",
                    new Scope.OfQueue("q", List.of(new Share("f", "cpu", 1))),
                    new Users(Set.of(new LocalQueueId("ns", "users")), Set.of()),
                    true,
                    List.of(new Occurrence(time(600), time(700)))))));
    world.finish("most");
    world.submit("like it", "q", 8, 0, time(10));
    world.submit("small", "q", 1, 0, time(15));
    assertThat(world.engine.cycle()).isEmpty();
    assertThat(names(world.engine.cycle())).containsExactly("small");

    // a user comes, so that the one that is held is looked at again, if there were room for it
    world.submit("last", "q", 3, 0, time(30));
    world.submit("user", "users", 1, 0, time(31));

    assertThat(names(world.engine.cycle())).containsExactlyInAnyOrder("last", "user");
  }

  @Test
  void aHeadThatNobodyLooksAtDoesNotGoOnWithItsFlavors() {
    World world = new World(ReferenceEngine.Waking.ALL);
    world.strictQueueOf("strict", "c", SmallWorld.flavor("f", 4), SmallWorld.flavor("g", 1));
    world.queue("other", "c", PreemptionPolicies.NEVER, SmallWorld.flavor("g", 4));
    world.submit("head", "strict", shape(6, 1), 0, time(1));
    assertThat(world.engine.cycle(queue -> true)).isEmpty();
    world.submit("beside", "other", 2, 0, time(2));
    assertThat(names(world.engine.cycle(queue -> true))).containsExactly("beside");

    // the engine looks at the other queue only
    world.submit("never", "other", 9, 0, time(3));
    assertThat(world.engine.cycle("other"::equals)).isEmpty();
    world.engine.fold(
        new SchedulerEvent.CohortChanged(
            new CohortSpec(
                "c",
                "",
                List.of(new ResourceGroup(List.of("cpu"), List.of(SmallWorld.flavor("f", 9)))))));

    List<Decided> decided = world.engine.cycle(queue -> true);

    assertThat(names(decided)).containsExactly("head");
    assertThat(((Decided.Admission) decided.getFirst()).podSets())
        .allSatisfy(podSet -> assertThat(podSet.flavors()).containsEntry("cpu", "f"));
  }

  private static List<String> names(List<Decided> decided) {
    return decided.stream().map(each -> each.id().name()).toList();
  }

  private static Instant time(int seconds) {
    return SmallWorld.START.plusSeconds(seconds);
  }

  private static RequestShape shape(long one, long two) {
    return new RequestShape(List.of(podSet("one", one), podSet("two", two)));
  }

  private static PodSetRequest podSet(String name, long cpu) {
    return new PodSetRequest(
        name, 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
  }
}
