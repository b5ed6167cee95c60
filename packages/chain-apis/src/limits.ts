/**
 * The most bytes of an Ogmios request and of an evaluation: above any transaction with the outputs that it needs.
 */
export const maxRequestLength = 256 * 1024
