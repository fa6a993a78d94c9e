package dev.sluice.accounting;

import dev.sluice.accounting.PodAccounts.Account;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long pods of accounts have run beside what these are charged for, because pods that terminate
 * are left out of the comparison (docs/pod-accounting.md#the-comparison): {@link #MOST} for each
 * charged pod at once, and a tenth of the time in the long run. Usable from any thread.
 */
final class ToleratedTime {

  /**
   * How long another pod of the same size may run beside each charged one. Three times in a row all
   * pods may be replaced that take {@link AdmissionComparison#TOLERATED_GRACE_SECONDS} to end, and
   * ten seconds to be reported.
   */
  static final Duration MOST = Duration.ofMinutes(2);

  /** One charged pod gives back the time of one other in so many times the time. */
  private static final int GIVEN_BACK = 10;

  /** After so long everything has been given back, however much it was. */
  private static final Duration ALL_GIVEN_BACK = Duration.ofDays(1);

  /**
   * An account is looked at as often while pods run beside others; if it isn't, nobody knows for
   * how long they did.
   */
  private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(1);

  private final Map<Account, Use> uses = new ConcurrentHashMap<>();

  /**
   * What an account has used.
   *
   * @param podMillis how many milliseconds of one pod, at a moment
   * @param at this moment
   * @param beside how many pods have run beside the charged ones since then
   * @param charged the number of charged pods
   */
  private record Use(long podMillis, Instant at, int beside, int charged) {

    private long until(Instant now) {
      long passed = Math.clamp(Duration.between(at, now).toMillis(), 0, ALL_GIVEN_BACK.toMillis());
      long seen = Math.min(passed, BETWEEN_LOOKS.toMillis());
      return Math.max(0, podMillis + seen * beside - passed * charged / GIVEN_BACK);
    }

    private long most() {
      return MOST.toMillis() * charged;
    }

    /** When nothing is left; empty if that is never. */
    private Optional<Instant> spentAt() {
      long tenths = (long) beside * GIVEN_BACK - charged;
      long left = most() - podMillis;
      return tenths <= 0 || left < 0
          ? Optional.empty()
          : Optional.of(at.plusMillis(left * GIVEN_BACK / tenths + 1));
    }
  }

  /** Whether an account has used some of its time, and hasn't given all of it back. */
  boolean isUsed(Account account) {
    return uses.containsKey(account);
  }

  /** Whether an account has used all its time, so that its terminating pods count. */
  boolean isSpent(Account account, Instant now) {
    Use use = uses.get(account);
    return use != null && use.until(now) > use.most();
  }

  /**
   * So many pods of an account run beside those that it is charged for from now on.
   *
   * @param charged the number of charged pods; if nothing is charged, the last number counts
   * @return when all its time will have been used; empty if that is never, or has been
   */
  Optional<Instant> observe(Account account, int charged, int beside, Instant now) {
    if (beside > 0 && !uses.containsKey(account)) {
      uses.values().removeIf(use -> use.beside() == 0 && use.until(now) == 0);
    }
    Use use =
        uses.compute(
            account,
            (same, before) -> {
              if (before == null) {
                return beside == 0 ? null : new Use(0, now, beside, charged);
              }
              long used = before.until(now);
              return used == 0 && beside == 0
                  ? null
                  : new Use(used, now, beside, charged == 0 ? before.charged() : charged);
            });
    return Optional.ofNullable(use).flatMap(Use::spentAt);
  }
}
