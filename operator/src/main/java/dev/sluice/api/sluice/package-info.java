/**
 * The kinds of the group {@code sluice.dev}, and PreemptionConfigs, as people write and read them.
 */
@NullMarked
package dev.sluice.api.sluice;

import org.jspecify.annotations.NullMarked;
