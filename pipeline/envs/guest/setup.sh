# Before packages are unpacked, with the folder of the new system as the argument: a small initial file system.
set -eu
mkdir -p "$1/etc/initramfs-tools/conf.d"
cat >"$1/etc/initramfs-tools/conf.d/small" <<END
MODULES=list
BUSYBOX=n
COMPRESS=gzip
RESUME=none
END
printf '%s\n' virtio_pci virtio_blk ext4 >"$1/etc/initramfs-tools/modules"
