package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.LedgerStore.OpenAttempt;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rows don't depend on who observed what, nor on the order in which it is told: replicas are killed
 * and lead in turn, and the database is away meanwhile.
 *
 * <p>{@code -Dsluice.property.factor} says how many worlds there are, {@code -Dsluice.ledger.steps}
 * how many things happen in each.
 */
class LedgerReplicasTest {

  private static final int WORLDS = Integer.getInteger("sluice.property.factor", 1) * 8;
  private static final int STEPS = Integer.getInteger("sluice.ledger.steps", 400);
  private static final int REPLICAS = 3;

  @TempDir private Path directory;

  @TestFactory
  Stream<DynamicTest> anyOrderGivesTheSameRows() {
    return worlds(
        (random, world, database) -> {
          List<AttemptObservation> told = new ArrayList<>(world.observations());
          Collections.shuffle(told, random);
          try (LedgerStore store = database.migrated()) {
            for (int at = 0; at < told.size(); ) {
              int until = Math.min(told.size(), at + random.nextInt(1, 60));
              store.add(told.subList(at, until));
              at = until;
            }
            check(store, world, database);
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> replicasThatAreKilledAndLeadInTurnGiveTheSameRows() {
    return worlds(
        (random, world, database) -> {
          Replicas replicas = new Replicas(random, world, database);
          replicas.play();
          try (LedgerStore store = database.connect()) {
            check(store, world, database);
            List<AttemptObservation> again = new ArrayList<>(world.observations());
            Collections.shuffle(again, random);
            List<String> before = rows(database);
            store.add(again);
            assertThat(rows(database)).as("told again").isEqualTo(before);
          }
        });
  }

  private interface Play {
    void of(Random random, RandomUses world, LedgerDatabase database) throws SQLException;
  }

  private Stream<DynamicTest> worlds(Play play) {
    return IntStream.rangeClosed(1, WORLDS)
        .mapToObj(
            seed ->
                DynamicTest.dynamicTest(
                    "seed " + seed,
                    () -> {
                      Random random = new Random(seed);
                      play.of(
                          random,
                          new RandomUses(random, STEPS / 12, STEPS, true),
                          new LedgerDatabase(
                              LedgerStoreTest.options(directory.resolve("world-" + seed))));
                    }));
  }

  private static void check(LedgerStore store, RandomUses world, LedgerDatabase database)
      throws SQLException {
    LedgerStoreTest.check(store, world, List.of(), RandomUses.BEGIN, world.now());
    LedgerStoreTest.checkNodes(store, world, RandomUses.BEGIN, world.now());
    assertThat(withoutZeros(UsageSumsTest.sums(database.dataSource())))
        .isEqualTo(withoutZeros(UsageSumsTest.rows(database.dataSource())));
    long attempts =
        world.observations().stream()
            .map(each -> each.workload() + each.reservation().orElseThrow().reservedAt())
            .distinct()
            .count();
    assertThat(rows(database)).hasSize((int) attempts);
  }

  /** What was taken from a sum may leave nothing of it. */
  private static Map<String, List<BigDecimal>> withoutZeros(Map<String, List<BigDecimal>> sums) {
    sums.values().removeIf(each -> each.stream().allMatch(sum -> sum.signum() == 0));
    return sums;
  }

  private static List<String> rows(LedgerDatabase database) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet each =
            statement.executeQuery(
                "SELECT workload_key, reserved_at, ready_at, ended_at, outcome, reason"
                    + " FROM sluice_attempt ORDER BY workload_key, reserved_at")) {
      while (each.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= 6; i++) {
          row.append(each.getString(i)).append(' ');
        }
        rows.add(row.toString());
      }
    }
    return rows;
  }

  /** What one replica after the other observes and writes. */
  private static final class Replicas {

    private final Random random;
    private final List<AttemptObservation> all;
    private final LedgerDatabase database;

    /** What each observed and didn't write; a file outlives its process. */
    private final List<List<AttemptObservation>> files = new ArrayList<>();

    /** From when on each observes. */
    private final int[] listedAt = new int[REPLICAS];

    Replicas(Random random, RandomUses world, LedgerDatabase database) {
      this.random = random;
      this.all = world.observations();
      this.database = database;
      for (int i = 0; i < REPLICAS; i++) {
        files.add(new ArrayList<>());
      }
    }

    void play() throws SQLException {
      int leader = 0;
      boolean compared = false;
      boolean away = false;
      LedgerStore store = database.migrated();
      try {
        for (int now = 0; now < all.size(); now++) {
          for (int i = 0; i < REPLICAS; i++) {
            if (listedAt[i] <= now) {
              files.get(i).add(all.get(now));
            }
          }
          if (random.nextInt(10) == 0) {
            away = random.nextInt(3) == 0;
          }
          if (random.nextInt(20) == 0) {
            int next = (leader + 1) % REPLICAS;
            if (listedAt[next] <= now) {
              // killed; what it wrote last it may not have forgotten
              listedAt[leader] = now + random.nextInt(1, 30);
              leader = next;
              compared = false;
            }
          }
          if (!away && listedAt[leader] <= now && random.nextInt(5) == 0) {
            List<AttemptObservation> file = files.get(leader);
            int written = compared ? random.nextInt(file.size() + 1) : file.size();
            store.add(file.subList(0, written));
            if (random.nextInt(10) > 0) {
              file.subList(0, written).clear();
            }
            if (!compared) {
              compare(store, now + 1, file);
              compared = true;
            }
          }
        }
        for (List<AttemptObservation> file : files) {
          store.add(file);
          List<AttemptObservation> madeUp = new ArrayList<>();
          compare(store, all.size(), madeUp);
          store.add(madeUp);
        }
      } finally {
        store.close();
      }
    }

    /** Makes up for what nobody wrote, from how Workloads are, as a new leader does. */
    private void compare(LedgerStore store, int end, List<AttemptObservation> file)
        throws SQLException {
      Map<String, AttemptObservation> now = new HashMap<>();
      all.subList(0, end).forEach(each -> now.put(each.workload(), each));
      Instant time = all.get(end - 1).observedAt();
      Set<String> ended = store.ended(List.copyOf(now.keySet()));
      now.forEach(
          (uid, last) -> {
            Optional<Outcome> outcome = last.ending().map(AttemptObservation.Ending::outcome);
            boolean finished =
                outcome.filter(it -> it == Outcome.SUCCEEDED || it == Outcome.FAILED).isPresent();
            if (outcome.isEmpty() || finished && !ended.contains(uid)) {
              file.add(last);
            }
          });
      for (OpenAttempt open : store.open()) {
        AttemptObservation last = Objects.requireNonNull(now.get(open.key()));
        Optional<Outcome> outcome = last.ending().map(AttemptObservation.Ending::outcome);
        if (outcome.equals(Optional.of(Outcome.DELETED))) {
          file.add(AttemptReader.gone(open.key(), open.version(), time));
        } else if (outcome.equals(Optional.of(Outcome.EVICTED))) {
          file.add(
              new AttemptObservation(
                  open.key(), last.version(), time, Optional.empty(), last.ending()));
        } else if (outcome.isPresent()) {
          file.add(last);
        }
      }
    }
  }
}
