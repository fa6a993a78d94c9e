package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.RecordDecoder.Decoded;
import dev.sluice.journal.RecordDecoder.MalformedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is encoded is decoded, by this version and by others; other bytes do no harm. */
class RecordCodecTest {

  private static final RecordTypes TYPES = JournalRecord.types();
  private static final long SECOND = 1_767_225_600;

  private static List<Class<?>> leaves(Class<?> type) {
    List<Class<?>> leaves = new ArrayList<>();
    if (type.isSealed()) {
      for (Class<?> each : type.getPermittedSubclasses()) {
        leaves.addAll(leaves(each));
      }
    } else {
      leaves.add(type);
    }
    return leaves;
  }

  private static List<Class<?>> kinds() {
    List<Class<?>> kinds = new ArrayList<>(leaves(SchedulerEvent.class));
    kinds.addAll(leaves(Decision.class));
    kinds.addAll(leaves(JournalRecord.class));
    return kinds;
  }

  private static void assertSame(Record read, Record written) {
    RecordEncoder canonical = RecordEncoder.canonical(TYPES);
    byte[] unused = canonical.comparable(written);
    assertThat(canonical.comparable(read)).isEqualTo(canonical.comparable(written));
    assertThat(read).isEqualTo(written);
  }

  @Test
  void everyEventAndDecisionIsReadAsItWasWritten() throws Exception {
    assertThat(TYPES.records()).containsAll(kinds());
    assertThat(kinds()).hasSizeGreaterThan(30);
    RandomRecords random = new RandomRecords(TYPES, 1);
    RecordEncoder encoder = new RecordEncoder(TYPES, SECOND);
    RecordDecoder decoder = new RecordDecoder(TYPES, SECOND);
    for (int i = 0; i < 300; i++) {
      for (Class<?> kind : kinds()) {
        Record written = random.of(kind);
        Decoded read = decoder.decode(encoder.encode(written));
        assertThat(read).isInstanceOf(Decoded.Value.class);
        assertSame(((Decoded.Value) read).value(), written);
      }
    }
  }

  record Name(String uid, String name) {}

  record Named(Name name, Set<Name> others, Map<String, Name> byName) {}

  @Test
  void referencesHoldAfterMoreDefinitionsThanAreKept() throws Exception {
    RecordTypes types = RecordTypes.of(Named.class);
    RecordEncoder encoder = new RecordEncoder(types, 0);
    RecordDecoder decoder = new RecordDecoder(types, 0);
    Random random = new Random(1);
    for (int i = 0; i < 150_000; i++) {
      int recent = Math.max(0, i - random.nextInt(2 * RecordEncoder.DICTIONARY));
      Name name = new Name("uid-" + recent, "name-" + recent / 2);
      Named written = new Named(name, Set.of(new Name("x", "y")), Map.of(name.name(), name));
      Decoded read = decoder.decode(encoder.encode(written));
      if (!read.equals(new Decoded.Value(written))) {
        assertThat(read).isEqualTo(new Decoded.Value(written));
      }
    }
  }

  record Many(List<Name> names) {}

  @Test
  void aRecordMayHoldMoreThanTheDictionary() throws Exception {
    RecordTypes types = RecordTypes.of(Many.class);
    RecordEncoder encoder = new RecordEncoder(types, 0);
    RecordDecoder decoder = new RecordDecoder(types, 0);
    for (int turn = 0; turn < 3; turn++) {
      List<Name> names = new ArrayList<>();
      for (int i = 0; i < 2 * RecordEncoder.DICTIONARY; i++) {
        names.add(new Name("uid-" + (i + turn) % 100_000, "name-" + i % 7));
      }
      Many written = new Many(names);
      assertThat(decoder.decode(encoder.encode(written))).isEqualTo(new Decoded.Value(written));
    }
  }

  /** What an older version knew, and what a newer one knows. */
  interface Before {
    record Thing(String name, int size, Name gone, List<Gone> all) {}

    record Gone(long number) {}
  }

  interface After {
    record Thing(long size, String name, Optional<String> added, Set<String> more, boolean flag) {}
  }

  interface Strict {
    record Thing(String name, Name needed) {}
  }

  /** A part has got a record of its own, with a component more. */
  interface Split {
    record Thing(String name, Part part) {}

    record Part(boolean first, boolean second, boolean added) {}
  }

  /** A record has come that may have nothing in it. */
  interface Ruled {
    record Thing(String name, Rules rules) {}

    record Rules(Optional<String> least, boolean exempt, Times times) {}

    record Times(List<String> known) {}
  }

  interface Whole {
    record Thing(String name, boolean first, boolean second) {}
  }

  interface Other {
    record Thing(String name, Set<String> size) {}
  }

  private static Decoded across(Record written, Class<?> reader) throws MalformedException {
    RecordTypes before = new RecordTypes(Class::getSimpleName, written.getClass());
    RecordTypes after = new RecordTypes(Class::getSimpleName, reader);
    return new RecordDecoder(after, 0).decode(new RecordEncoder(before, 0).encode(written));
  }

  @Test
  void componentsAreFoundInTheRecordThatTheyWereMovedTo() throws Exception {
    assertThat(across(new Whole.Thing("a", true, false), Split.Thing.class))
        .isEqualTo(new Decoded.Value(new Split.Thing("a", new Split.Part(true, false, false))));
  }

  @Test
  void aNewerVersionReadsWhatAnOlderOneWrote() throws Exception {
    Before.Thing old = new Before.Thing("a", 7, new Name("u", "n"), List.of(new Before.Gone(1)));
    assertThat(across(old, After.Thing.class))
        .isEqualTo(new Decoded.Value(new After.Thing(7, "a", Optional.empty(), Set.of(), false)));
    assertThat(across(old, Ruled.Thing.class))
        .isEqualTo(
            new Decoded.Value(
                new Ruled.Thing(
                    "a", new Ruled.Rules(Optional.empty(), false, new Ruled.Times(List.of())))));
    assertThat(across(old, Strict.Thing.class))
        .isEqualTo(new Decoded.Unreadable("Thing.needed is missing"));
    assertThat(across(old, Other.Thing.class))
        .isEqualTo(new Decoded.Unreadable("Thing.size has another type"));
    assertThat(across(old, Name.class))
        .isEqualTo(new Decoded.Unreadable("the type Thing is unknown"));
  }

  @Test
  void whatCannotBeHeldIsRefused() {
    record Holder(Object anything) {}
    assertThatThrownBy(() -> RecordTypes.of(Holder.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Object");
    assertThatThrownBy(() -> new RecordEncoder(TYPES, 0).encode(new Name("a", "b")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void damagedBytesAreReadOrRefused() {
    RandomRecords records = new RandomRecords(TYPES, 2);
    Random random = new Random(3);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      RecordEncoder encoder = new RecordEncoder(TYPES, SECOND);
      List<Class<?>> kinds = kinds();
      byte[] payload = encoder.encode(records.of(kinds.get(i % kinds.size())));
      int damages = 1 + random.nextInt(4);
      for (int d = 0; d < damages; d++) {
        payload[random.nextInt(payload.length)] = (byte) random.nextInt(256);
      }
      try {
        Decoded unused = new RecordDecoder(TYPES, SECOND).decode(payload);
      } catch (MalformedException e) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1000);
  }

  @Test
  void madeUpBytesAreReadOrRefused() {
    Random random = new Random(4);
    for (int i = 0; i < 50_000; i++) {
      byte[] payload = new byte[random.nextInt(200)];
      random.nextBytes(payload);
      try {
        Decoded unused = new RecordDecoder(TYPES, SECOND).decode(payload);
      } catch (MalformedException e) {
        assertThat(e).hasMessageNotContaining("null");
      }
    }
  }
}
