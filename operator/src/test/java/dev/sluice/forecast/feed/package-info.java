/** From Workloads that end to what is learned of their run times. */
@NullMarked
package dev.sluice.forecast.feed;

import org.jspecify.annotations.NullMarked;
