/** Mail in one file of an export at most, in octets before compression: no file reaches 4 GiB, which FAT disks and old programs stop at. */
export const EXPORT_PART_OCTETS = 4_000_000_000;
