package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page docs/story.md names files that exist, and counts them as they are. */
class StoryPageTest {

  /** The number of files that a reader of the story may have to open. */
  private static final int AIM = 45;

  /**
   * The page is above the aims, of which that of rooms is 8: it may come nearer, and must not grow.
   */
  private static final int MOST_FILES = 58;

  private static final int MOST_ROOMS = 10;

  private static final Pattern ROW =
      Pattern.compile("^\\| `([^`]+\\.java)` \\|", Pattern.MULTILINE);

  private static final Pattern COUNTS =
      Pattern.compile(
          "^(\\d+) files in (\\d+) rooms: .* The aim is (\\d+) files(?:; these are (\\d+) more)?\\.$",
          Pattern.MULTILINE);

  private final String page = read(Path.of("docs", "story.md"));

  private final List<String> files =
      ROW.matcher(page).results().map((MatchResult row) -> row.group(1)).toList();

  @Test
  void everyFileExistsAndIsListedOnce() {
    assertThat(files)
        .isNotEmpty()
        .doesNotHaveDuplicates()
        .allSatisfy(file -> assertThat(SourceTrees.mainFile(file)).isRegularFile());
  }

  @Test
  void theCountsAreThoseOfTheList() {
    Matcher counts = COUNTS.matcher(page);

    assertThat(counts.find()).as("a line of counts").isTrue();
    assertThat(Integer.parseInt(counts.group(1))).isEqualTo(files.size());
    assertThat(Integer.parseInt(counts.group(2))).isEqualTo(rooms().size());
    assertThat(Integer.parseInt(counts.group(3))).isEqualTo(AIM);
    assertThat(counts.group(4) == null ? 0 : Integer.parseInt(counts.group(4)))
        .isEqualTo(Math.max(0, files.size() - AIM));
  }

  @Test
  void theStoryStaysSmall() {
    assertThat(files.size()).isLessThanOrEqualTo(MOST_FILES);
    assertThat(rooms()).hasSizeLessThanOrEqualTo(MOST_ROOMS);
  }

  @Test
  void theRoomsAreThoseOfTheArchitecture() {
    String architecture = read(Path.of("docs", "architecture.md"));

    assertThat(rooms()).allSatisfy(room -> assertThat(architecture).contains("| `" + room + "` |"));
  }

  /** The room of a file: its area, and of the core the part of it. */
  private Set<String> rooms() {
    Set<String> rooms = new TreeSet<>();
    for (String file : files) {
      String[] path = file.split("/");
      rooms.add(path[0].equals("core") ? path[0] + "." + path[1] : path[0]);
    }
    return rooms;
  }

  private static String read(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
