/**
 * Tests of the quota tree, from the formulae of the contract. Small trees of one pair may enter.
 * Nothing leaves.
 */
@NullMarked
package dev.sluice.core.quota;

import org.jspecify.annotations.NullMarked;
