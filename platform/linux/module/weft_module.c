// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The character device /dev/weft0: what the core needs of Linux.
 *
 * The GPU is one PCI device: its registers and a part of device memory. A second one (ivshmem) has all of
 * device memory as plain memory, and an interrupt for each queue. Without it the driver polls, and uses the
 * part. Both are known when the module starts.
 *
 * Memory for buffers of kind system is a range that the kernel has been told not to use:
 *
 *   memmap=128M$0x38000000                            (an argument of the kernel)
 *   insmod weft.ko pool_base=0x38000000 pool_bytes=0x8000000
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../core/weft_core.h"
#include "../weft_ioctl.h"
#include "weft/weft_registers.h"

#define GPU_VENDOR 0x5745
#define GPU_DEVICE 0x4654
#define MEMORY_VENDOR 0x1af4
#define MEMORY_DEVICE 0x1110
#define REGISTER_BAR 0
#define APERTURE_BAR 1
#define MEMORY_BAR 2
#define MOST_QUEUES 64
#define PAGES_AT_ONCE 64

static unsigned long long pool_base;
static unsigned long long pool_bytes;
module_param(pool_base, ullong, 0444);
MODULE_PARM_DESC(pool_base, "physical address of memory for buffers, which the kernel does not use");
module_param(pool_bytes, ullong, 0444);
MODULE_PARM_DESC(pool_bytes, "its size in bytes");

/* An open file. */
struct weft_file {
  weft_context* context;
  struct address_space* mapping; /* of its inode */
  wait_queue_head_t waiters;
  u64 seen; /* events at the last wait */
};

/* There is one GPU. */
static struct {
  struct pci_dev *gpu, *memory;
  void __iomem* registers;
  phys_addr_t device_place; /* of the first byte of device memory */
  unsigned int vectors;     /* interrupts; 0: the driver polls */
  u64 device_base;
  weft_core_os os;
  weft_core* core;
  struct mutex lock;
  struct work_struct poll;
  bool stopping;
} weft;

/* ---- what the core asks for */

static uint32_t read_register(void* os, uint64_t offset) {
  return readl(weft.registers + offset);
}
static void write_register(void* os, uint64_t offset, uint32_t value) {
  writel(value, weft.registers + offset);
}
static void* allocate(void* os, uint64_t bytes) {
  return kvzalloc(bytes, GFP_KERNEL);
}
static void release(void* os, void* memory) {
  kvfree(memory);
}
static void lock(void* os) {
  mutex_lock(&weft.lock);
}
static void unlock(void* os) {
  mutex_unlock(&weft.lock);
}
static void wake(void* os, void* user) {
  struct weft_file* const file = user;
  wake_up_all(&file->waiters);
}
static void poll_soon(void* os) {
  if (!weft.stopping) queue_work(system_unbound_wq, &weft.poll);
}
static void rest(void* os) {
  usleep_range(20, 60);
}
static int from_process(void* os, void* to, uint64_t from, uint64_t bytes) {
  return copy_from_user(to, u64_to_user_ptr(from), bytes) == 0 ? 0 : -EFAULT;
}
static void unmap(void* os, void* user, uint64_t address, uint64_t bytes) {
  struct weft_file* const file = user;
  unmap_mapping_range(file->mapping, address, bytes, 1);
}

static void poll_until_done(struct work_struct* work) {
  do {
    usleep_range(1000, 1200);
  } while (!weft.stopping && weft_core_poll(weft.core));
}

static irqreturn_t take_interrupt(int number, void* queue) {
  weft_core_interrupt(weft.core, (uint32_t)(uintptr_t)queue);
  return IRQ_HANDLED;
}

/* ---- the character device */

static int weft_open(struct inode* inode, struct file* opened) {
  struct weft_file* const file = kzalloc(sizeof *file, GFP_KERNEL);
  if (file == NULL) return -ENOMEM;
  init_waitqueue_head(&file->waiters);
  file->mapping = opened->f_mapping;
  file->context = weft_core_open(weft.core, file);
  if (file->context == NULL) {
    kfree(file);
    return -ENOMEM;
  }
  opened->private_data = file;
  return nonseekable_open(inode, opened);
}

/* The last reference is gone: of the process, of its children, and of all mappings. */
static int weft_release(struct inode* inode, struct file* opened) {
  struct weft_file* const file = opened->private_data;
  weft_core_close(file->context);
  kfree(file);
  return 0;
}

static long wait_for_events(struct weft_file* file, struct weft_ioctl_wait* wait) {
  long left;
  if (wait->reserved != 0) return -EINVAL;
  if (wait->timeout_ms < 0) {
    left = wait_event_interruptible(file->waiters, weft_core_events(file->context) != wait->seen);
    if (left == 0) left = 1;
  } else {
    left = wait_event_interruptible_timeout(file->waiters, weft_core_events(file->context) != wait->seen,
                                            msecs_to_jiffies(wait->timeout_ms));
  }
  if (left < 0) return -EINTR;
  if (left == 0) return -ETIMEDOUT;
  wait->seen = file->seen = weft_core_events(file->context);
  return 0;
}

static long weft_call(struct file* opened, unsigned int request, unsigned long pointer) {
  struct weft_file* const file = opened->private_data;
  union {
    struct weft_ioctl_info info;
    struct weft_ioctl_queue queue;
    struct weft_ioctl_kernel kernel;
    struct weft_ioctl_wait wait;
    struct weft_ioctl_failure failure;
  } argument;
  const unsigned int bytes = _IOC_SIZE(request);
  long result;
  if (_IOC_TYPE(request) != WEFT_IOCTL_TYPE || bytes > sizeof argument) return -ENOTTY;
  memset(&argument, 0, sizeof argument);
  if ((_IOC_DIR(request) & _IOC_WRITE) != 0 && copy_from_user(&argument, (void __user*)pointer, bytes) != 0)
    return -EFAULT;
  if (request == WEFT_IOCTL_WAIT) {
    result = wait_for_events(file, &argument.wait);
  } else {
    result = weft_core_call(file->context, request, &argument);
  }
  if (result != 0 || (_IOC_DIR(request) & _IOC_READ) == 0) return result;
  return copy_to_user((void __user*)pointer, &argument, bytes) == 0 ? 0 : -EFAULT;
}

static __poll_t weft_poll(struct file* opened, poll_table* table) {
  struct weft_file* const file = opened->private_data;
  poll_wait(opened, &file->waiters, table);
  return weft_core_events(file->context) != file->seen ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- mappings */

static unsigned long page_of(u64 address) {
  const bool system = address >= pool_base && address - pool_base < pool_bytes;
  return (system ? address : weft.device_place + (address - weft.device_base)) >> PAGE_SHIFT;
}

struct fault {
  struct vm_area_struct* area;
  unsigned long place; /* of the process */
  unsigned long pages;
  u64 address;
  vm_fault_t result;
};

/* Under the core's lock: nobody destroys the buffer meanwhile. */
static void insert_pages(void* argument) {
  struct fault* const fault = argument;
  unsigned long i;
  for (i = 0; i < fault->pages; ++i) {
    const unsigned long offset = i * PAGE_SIZE;
    fault->result = vmf_insert_pfn(fault->area, fault->place + offset, page_of(fault->address + offset));
    if (fault->result != VM_FAULT_NOPAGE) return;
  }
}

static vm_fault_t map_at_first_use(struct vm_fault* vmf) {
  struct vm_area_struct* const area = vmf->vma;
  struct weft_file* const file = area->vm_file->private_data;
  struct fault fault = {.area = area,
                        .place = vmf->address & PAGE_MASK,
                        .address = (u64)vmf->pgoff << PAGE_SHIFT,
                        .result = VM_FAULT_SIGBUS};
  fault.pages = min_t(unsigned long, PAGES_AT_ONCE, (area->vm_end - fault.place) / PAGE_SIZE);
  (void)weft_core_map(file->context, fault.address, fault.pages * PAGE_SIZE, insert_pages, &fault);
  return fault.result;
}

static const struct vm_operations_struct mapping_operations = {.fault = map_at_first_use};

static void nothing(void* argument) {}

/* The offset is the address for the GPU. A child process does not inherit the mapping, since its parent's
 * packets would change what the child sees. */
static int weft_mmap(struct file* opened, struct vm_area_struct* area) {
  const unsigned long flags = VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY;
  struct weft_file* const file = opened->private_data;
  const u64 address = (u64)area->vm_pgoff << PAGE_SHIFT;
  const int error = weft_core_map(file->context, address, area->vm_end - area->vm_start, nothing, NULL);
  if (error != 0) return error;
  if ((area->vm_flags & VM_SHARED) == 0) return -EINVAL;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
  vm_flags_set(area, flags);
#else
  area->vm_flags |= flags;
#endif
  area->vm_ops = &mapping_operations;
  return 0;
}

static const struct file_operations file_operations = {.owner = THIS_MODULE,
                                                       .open = weft_open,
                                                       .release = weft_release,
                                                       .unlocked_ioctl = weft_call,
                                                       .poll = weft_poll,
                                                       .mmap = weft_mmap};
static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR, .name = "weft0", .fops = &file_operations, .mode = 0666};

/* ---- PCI */

static int probe(struct pci_dev* found, const struct pci_device_id* id) {
  struct pci_dev** const place = id->vendor == GPU_VENDOR ? &weft.gpu : &weft.memory;
  int error;
  if (*place != NULL) {
    dev_err(&found->dev, "there is a second GPU or memory; the driver takes one, %s\n", pci_name(*place));
    return -EBUSY;
  }
  error = pcim_enable_device(found);
  if (error == 0) error = pci_request_regions(found, "weft");
  if (error != 0) {
    dev_err(&found->dev, "the PCI device cannot be enabled (error %d)\n", error);
    return error;
  }
  pci_set_master(found);
  *place = found;
  return 0;
}

/* Only as the module ends: nobody can unbind the devices (suppress_bind_attrs). */
static void forget(struct pci_dev* found) {
  pci_release_regions(found);
}

static const struct pci_device_id identifiers[] = {
    {PCI_DEVICE(GPU_VENDOR, GPU_DEVICE)}, {PCI_DEVICE(MEMORY_VENDOR, MEMORY_DEVICE)}, {0}};
MODULE_DEVICE_TABLE(pci, identifiers);
static struct pci_driver driver = {.name = "weft",
                                   .id_table = identifiers,
                                   .probe = probe,
                                   .remove = forget,
                                   .driver = {.suppress_bind_attrs = true}};

/* ---- start and end */

static int find_pool(void) {
  struct device* const dev = &weft.gpu->dev;
  if (pool_base == 0 || pool_bytes == 0 || ((pool_base | pool_bytes) & (PAGE_SIZE - 1)) != 0 ||
      pool_bytes > U64_MAX - pool_base) {
    dev_err(dev, "pool_base=0x%llx pool_bytes=0x%llx; allowed: whole pages, not 0\n", pool_base, pool_bytes);
    return -EINVAL;
  }
  if (region_intersects(pool_base, pool_bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) != REGION_DISJOINT) {
    dev_err(dev, "the kernel uses memory from 0x%llx to 0x%llx; keep it from that by memmap=\n", pool_base,
            pool_base + pool_bytes - 1);
    return -EBUSY;
  }
  weft.os.system = memremap(pool_base, pool_bytes, MEMREMAP_WB);
  weft.os.system_address = pool_base;
  weft.os.system_bytes = pool_bytes;
  if (weft.os.system == NULL) dev_err(dev, "memory for buffers cannot be mapped\n");
  return weft.os.system == NULL ? -ENOMEM : 0;
}

static int find_device_memory(void) {
  struct pci_dev* const from = weft.memory != NULL ? weft.memory : weft.gpu;
  const int bar = weft.memory != NULL ? MEMORY_BAR : APERTURE_BAR;
  weft.device_place = pci_resource_start(from, bar);
  weft.os.device_bytes = pci_resource_len(from, bar);
  if (weft.device_place != 0) weft.os.device = memremap(weft.device_place, weft.os.device_bytes, MEMREMAP_WB);
  if (weft.os.device == NULL) dev_err(&from->dev, "device memory (BAR %d) cannot be mapped\n", bar);
  return weft.os.device == NULL ? -ENODEV : 0;
}

/* As many vectors as the GPU has queues, or none. */
static void find_vectors(void) {
  const unsigned int queues = readl(weft.registers + WEFT_REG_QUEUES);
  int got;
  if (weft.memory == NULL || queues == 0 || queues > MOST_QUEUES) return;
  got = pci_alloc_irq_vectors(weft.memory, queues, queues, PCI_IRQ_MSIX);
  if (got != queues) {
    dev_warn(&weft.memory->dev, "no %u interrupts (error %d); the driver polls\n", queues, got);
    return;
  }
  weft.vectors = queues;
}

static void give_vectors(unsigned int taken) {
  while (taken-- != 0) free_irq(pci_irq_vector(weft.memory, taken), (void*)(uintptr_t)taken);
  if (weft.vectors != 0) pci_free_irq_vectors(weft.memory);
  weft.vectors = 0;
}

static int take_vectors(void) {
  unsigned int q;
  for (q = 0; q < weft.vectors; ++q) {
    const int error = request_threaded_irq(pci_irq_vector(weft.memory, q), NULL, take_interrupt, IRQF_ONESHOT,
                                           "weft", (void*)(uintptr_t)q);
    if (error == 0) continue;
    dev_err(&weft.memory->dev, "interrupt of queue %u cannot be taken (error %d)\n", q, error);
    give_vectors(q);
    return error;
  }
  return 0;
}

static int start_core(void) {
  struct device* const dev = &weft.gpu->dev;
  const int error = weft_core_start(&weft.core, &weft.os);
  if (error == -ENODEV) {
    dev_err(dev, "ID 0x%x, version 0x%x; expected: ID 0x%x, version 0x%x or later of the same major number\n",
            readl(weft.registers + WEFT_REG_ID), readl(weft.registers + WEFT_REG_VERSION), WEFT_ID_VALUE,
            WEFT_VERSION_VALUE);
  } else if (error != 0) {
    dev_err(dev, "the GPU refuses its window onto 0x%llx, 0x%llx bytes (error %d)\n", pool_base, pool_bytes,
            error);
  }
  return error;
}

static void end(void) {
  weft.stopping = true;
  if (weft.core != NULL) {
    cancel_work_sync(&weft.poll);
    give_vectors(weft.vectors);
    weft_core_stop(weft.core);
  }
  if (weft.os.device != NULL) memunmap(weft.os.device);
  if (weft.os.system != NULL) memunmap(weft.os.system);
  if (weft.registers != NULL) pci_iounmap(weft.gpu, weft.registers);
  pci_unregister_driver(&driver);
}

static int start(void) {
  int error;
  if (weft.gpu == NULL) {
    pr_err("weft: no PCI device %04x:%04x\n", GPU_VENDOR, GPU_DEVICE);
    return -ENODEV;
  }
  weft.registers = pci_iomap(weft.gpu, REGISTER_BAR, WEFT_REGISTER_BYTES);
  if (weft.registers == NULL) return -ENODEV;
  error = find_pool();
  if (error == 0) error = find_device_memory();
  if (error != 0) return error;
  find_vectors();
  weft.os.interrupts = weft.vectors != 0;
  error = start_core();
  if (error != 0) {
    give_vectors(0);
    return error;
  }
  weft.device_base = (u64)readl(weft.registers + WEFT_REG_DEVICE_BASE_HI) << 32 |
                     readl(weft.registers + WEFT_REG_DEVICE_BASE_LO);
  error = take_vectors();
  if (error == 0) error = misc_register(&device);
  return error;
}

static int __init weft_init(void) {
  int error;
  mutex_init(&weft.lock);
  INIT_WORK(&weft.poll, poll_until_done);
  weft.os.read32 = read_register;
  weft.os.write32 = write_register;
  weft.os.allocate = allocate;
  weft.os.release = release;
  weft.os.lock = lock;
  weft.os.unlock = unlock;
  weft.os.wake = wake;
  weft.os.poll_soon = poll_soon;
  weft.os.pause = rest;
  weft.os.from_process = from_process;
  weft.os.unmap = unmap;
  error = pci_register_driver(&driver);
  if (error != 0) return error;
  error = start();
  if (error != 0) {
    end();
    return error;
  }
  dev_info(&weft.gpu->dev, "/dev/weft0: %u queues, %llu MiB of device memory, %llu MiB for buffers, %s\n",
           weft_core_queues(weft.core), weft_core_device_bytes(weft.core) >> 20, pool_bytes >> 20,
           weft.vectors != 0 ? "interrupts" : "polls");
  return 0;
}

static void __exit weft_exit(void) {
  misc_deregister(&device);
  end();
}

module_init(weft_init);
module_exit(weft_exit);
MODULE_DESCRIPTION("The Weft GPU: a character device for processes");
MODULE_AUTHOR("The Weft project");
MODULE_LICENSE("GPL");
