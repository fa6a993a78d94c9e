package dev.sluice.workload.record;

import static dev.sluice.workload.Templates.workload;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many pods an assignment counts. The API doesn't require the field. */
class AssignedCountTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {name: main}                     | 3
          {name: main, count: null}        | 3
          {name: main, count: 2}           | 2
          {name: main, count: 0}           | 0
          {name: unknown}                  | 0
          {flavors: {cpu: spot}}           | 3
          """)
  void anAbsentNumberIsThatOfThePodSet(String assignment, int expected) {
    CachedWorkload parsed =
        workload(
            """
            metadata: {name: sample, namespace: team, uid: uid-1}
            status:
              admission: {clusterQueue: pool, podSetAssignments: [%s]}
            spec:
              podSets: [{name: main, count: 3, template: {spec: {containers: []}}}]
            """
                .formatted(assignment));

    assertThat(parsed.assignments().getFirst().count()).isEqualTo(expected);
  }
}
