/** What is measured, told and explained, from the contract. */
@NullMarked
package dev.sluice.observe;

import org.jspecify.annotations.NullMarked;
