/** What is measured, told and explained, from the contract. */
@NullMarked
package dev.sluice.metrics;

import org.jspecify.annotations.NullMarked;
